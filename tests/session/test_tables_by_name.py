"""`session.table(name)`: a name is a name, whatever it is made of. No Spark: nothing is run."""

import pytest

import tidemark
from tidemark.errors import TidemarkError


@pytest.fixture
def session():
    session = tidemark.connect()
    session.sql(
        """
        CREATE DATABASE `my db`;
        CREATE TABLE `order` (a INT) WITH ('connector' = 'datagen');
        CREATE TABLE `two words` (b INT) WITH ('connector' = 'datagen');
        CREATE TABLE `with.dot` (c INT) WITH ('connector' = 'datagen');
        CREATE TABLE `my db`.t (d INT) WITH ('connector' = 'datagen')
        """
    )
    return session


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("order", "a"),
        ("`order`", "a"),
        ("two words", "b"),
        ("default_catalog.default_database.two words", "b"),
        ("`with.dot`", "c"),
        ("my db.t", "d"),
        ("`my db`.`t`", "d"),
    ],
)
def test_names_and_paths_need_no_quotes(session, name, column):
    assert [found.name for found in session.table(name).columns] == [column]


@pytest.mark.parametrize("name", ["t; DROP TABLE `order`", "`order` WHERE a > 1", "(SELECT 1)", ""])
def test_a_name_is_never_read_as_sql(session, name):
    with pytest.raises(TidemarkError):
        session.table(name)

    assert session.table("order").columns

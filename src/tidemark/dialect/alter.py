"""ALTER TABLE, VIEW, DATABASE, CATALOG and FUNCTION."""

from __future__ import annotations

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.ddl import DdlParser
from tidemark.dialect.literals import string_of


class AlterParser(DdlParser):
    """Adds ALTER to data definition."""

    def alter(self) -> s.Statement:
        start = self.here
        self.expect("ALTER")
        if self.at(*unsupported.ALTER.each):
            self.refuse(unsupported.ALTER, self.key)
        if self.at("TEMPORARY"):
            self.fail(
                "a temporary object cannot be altered (same in Flink)",
                hint="drop it and create it again",
            )
        kind = self.object_kind()
        if_exists = self.take("IF", "EXISTS")
        name = self.name_of(kind)
        actions = self._view_actions() if kind == "VIEW" else self._actions(kind)
        return s.Alter(kind, name, tuple(actions), if_exists, self.span_from(start))

    def _view_actions(self) -> list[s.AlterAction]:
        if self.at("COMMENT"):
            return [self._set_comment()]
        if self.take("AS"):
            return [s.SetQuery(self.query())]
        self.expect("RENAME", "TO")
        return [s.RenameTo(self.qualified_name("a new name"))]

    def _actions(self, kind: str) -> list[s.AlterAction]:
        if kind == "FUNCTION":
            return [self._implementation()]
        if self.at("COMMENT"):
            return [self._set_comment()]
        verb = self.expect_any("RENAME", "SET", "RESET", "ADD", "MODIFY", "DROP")
        if kind != "TABLE" and verb not in ("SET", "RESET"):
            self.here -= 1
            self.fail(f"ALTER {kind} supports SET and RESET only")
        if verb == "SET":
            return [s.SetOptions(self.options())]
        if verb == "RESET":
            return [self._reset()]
        if verb == "RENAME":
            return [self._rename()]
        return self._drop() if verb == "DROP" else self._add_or_modify(verb)

    def _set_comment(self) -> s.AlterAction:
        self.expect("COMMENT")
        return s.SetComment(string_of(self))

    def _implementation(self) -> s.AlterAction:
        self.expect("AS")
        identifier = string_of(self, "'module.function' in single quotes")
        given = self.take("LANGUAGE")
        language = self.expect_any("JAVA", "SCALA", "PYTHON") if given else "JAVA"
        return s.SetImplementation(identifier, language)

    def _partitions(self) -> tuple[tuple[s.Option, ...], ...]:
        """`PARTITION (...) PARTITION (...)`, with or without commas."""
        found = []
        while self.take("PARTITION"):
            found.append(self.partition())
            if self.at("WITH"):
                self.refuse(unsupported.PARTITION_OPTIONS)
            self.take(",")
        if not found:
            self.fail_expecting("`PARTITION`")
        return tuple(found)

    def _reset(self) -> s.AlterAction:
        if self.sees("(", ")"):
            self.fail("RESET names the options to reset", hint="write RESET ('key')")
        self.expect("(")
        return s.ResetOptions(tuple(self.enclosed(self.option_key)))

    def _rename(self) -> s.AlterAction:
        if self.take("TO"):
            return s.RenameTo(self.qualified_name("a new name"))
        old = self.one_name("a column name")
        self.expect("TO")
        return s.RenameColumn(old, self.one_name("a new name"))

    def _drop(self) -> list[s.AlterAction]:
        if self.take("WATERMARK"):
            return [s.SetWatermark(None)]
        if self.take("PRIMARY", "KEY"):
            return [s.SetPrimaryKey(None)]
        if self.take("CONSTRAINT"):
            return [s.SetPrimaryKey(None, constraint=self.name("a constraint name"))]
        if_exists = self.take("IF", "EXISTS")
        if if_exists or self.at("PARTITION"):
            return [s.DropPartitions(self._partitions(), if_exists)]
        if self.take("DISTRIBUTION"):
            return [s.SetDistribution(None)]
        if self.take("("):
            return [s.DropColumns(tuple(self.enclosed(self._column_name)))]
        return [s.DropColumns((self._column_name(),))]

    def _column_name(self) -> s.Name:
        self._refuse_field()
        return self.one_name("a column name")

    def _refuse_field(self) -> None:
        """A field of a ROW cannot be altered by itself."""
        start = self.here
        name = self.name("a column name")
        nested = self.at(".")
        if nested:
            while self.take("."):
                self.name("a field")
            self.fail(
                "fields of a ROW cannot be altered (same in Flink)",
                at=self.span_from(start),
                hint=f"write MODIFY {name} ROW<...> with all fields",
            )
        self.here = start

    def _add_or_modify(self, verb: str) -> list[s.AlterAction]:
        add = verb == "ADD"
        if_not_exists = add and self.take("IF", "NOT", "EXISTS")
        if if_not_exists or (add and self.at("PARTITION")):
            return [s.AddPartitions(self._partitions(), if_not_exists)]
        if self.at("DISTRIBUTION"):
            return [s.SetDistribution(self._distribution("DISTRIBUTION"), add)]
        if self.at("COLUMN"):
            self.fail(f"{verb} is not followed by COLUMN", hint=f"write {verb} name type")
        if not self.at("("):
            return [self._element(add)]
        self.here += 1
        return list(self.enclosed(lambda: self._element(add)))

    def _element(self, add: bool) -> s.AlterAction:
        start = self.here
        if self.sees("WATERMARK", "FOR"):
            return s.SetWatermark(self._watermark(), add)
        if self.at("CONSTRAINT") or self.sees("PRIMARY", "KEY"):
            return s.SetPrimaryKey(self._primary_key(start), add)
        if self.sees("UNIQUE", "("):
            self.refuse(unsupported.UNIQUE)
        self._refuse_field()
        column = self.column()
        first = self.take("FIRST")
        after = None
        if not first and self.take("AFTER"):
            after = self.one_name("a column name")
        action = s.AddColumn if add else s.ModifyColumn
        return action(column, first, after)

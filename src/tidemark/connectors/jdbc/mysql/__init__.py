"""The dialect of MySQL and MariaDB, by PyMySQL."""

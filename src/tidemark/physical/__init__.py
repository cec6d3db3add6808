"""The physical plan: what a logical plan becomes before Spark is involved.

Every decision about how operators run is made here, as frozen values that can be printed, tested
and compared with a checkpoint without Spark: the operators with their stable ids, what each
requires of its inputs, where watermarks are declared, where rows get their stamps, where rows are
assigned to windows, and how many phases an aggregation has. `tidemark.spark` only lowers it.
"""

from tidemark.physical.planner import Settings, TableFacts, physical_plan
from tidemark.physical.stages import (
    ColumnStage,
    Compute,
    Input,
    Operator,
    Outlet,
    PhysicalPlan,
    Readings,
    Stage,
    WatermarkStage,
)

__all__ = [
    "ColumnStage",
    "Compute",
    "Input",
    "Operator",
    "Outlet",
    "PhysicalPlan",
    "Readings",
    "Settings",
    "Stage",
    "TableFacts",
    "WatermarkStage",
    "physical_plan",
]

"""SELECT with GROUP BY: groups, aggregate calls, and the SELECT list over them."""

"""SELECT with GROUP BY: groups, aggregate calls, and what the SELECT list makes of them."""

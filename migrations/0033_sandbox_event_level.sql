-- The level of a check stands in its line of the log; a line without one is of level error.
update sandbox_event set data = data || '{"level": "warning"}'
where kind = 'check' and data ->> 'id' in ('content-type', 'answer-time', 'usual-code', 'date-checked', 'soft-fields');

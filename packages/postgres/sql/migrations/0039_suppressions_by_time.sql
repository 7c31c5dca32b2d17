-- The newest entries of each program and reason, for operators.
create index concurrently suppressions_by_time on suppressions (organization_id, program_id, reason, created_at);

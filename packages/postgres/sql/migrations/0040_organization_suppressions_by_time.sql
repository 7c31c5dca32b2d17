-- The newest entries of each organization and reason, for operators.
create index concurrently organization_suppressions_by_time on organization_suppressions (organization_id, reason, created_at);

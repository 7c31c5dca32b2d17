-- Counts a message of the queue whose state changed.
create or replace function count_messages() returns trigger language plpgsql as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, queued, deferred, unknown, quarantined) values (
    new.organization_id, new.campaign_id,
    (new.quarantined_at is null)::integer - (old.quarantined_at is null)::integer,
    (new.attempts > 0)::integer - (old.attempts > 0)::integer,
    (new.unknown_outcomes > 0 and new.quarantined_at is null)::integer - (old.unknown_outcomes > 0 and old.quarantined_at is null)::integer,
    (new.quarantined_at is not null)::integer - (old.quarantined_at is not null)::integer);
  return null;
end
$$;

-- Puts a dead letter into its group of failures, before it is written and when its responses are erased.
--
-- An endpoint has about 100 groups. A partner whose every response is another one gets one more group, for all the others.
create or replace function group_failure() returns trigger language plpgsql as $$
declare
  failure record;
begin
  select * into failure from failure_of(new.attempts);
  new.group_id := failure_group_id(new.endpoint_id, new.reason, failure.status, failure.outcome, failure.line);
  if failure.line is not null
    and not exists (select from failure_groups where organization_id = new.organization_id and id = new.group_id)
    and (
      select count(*) >= 100 from failure_groups where organization_id = new.organization_id and endpoint_id = new.endpoint_id
    )
  then
    new.group_id := failure_group_id(new.endpoint_id, new.reason, failure.status, failure.outcome, 'Many different responses');
  end if;
  return new;
end
$$;

-- In a transaction of its own: it reads the responses of all dead letters, which can be read meanwhile, and others can be added.
update dead_letters dead set group_id = (
  select failure_group_id(endpoint_id, reason, status, outcome, line) from failure_of(attempts)
) where group_id is null;

create index concurrently dead_letters_of_group on dead_letters (group_id, finished_at, id) where replayed_as is null;

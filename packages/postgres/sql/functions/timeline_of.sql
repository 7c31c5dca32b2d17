-- Returns the number of the timeline in an identity, as current_identity() writes it in hexadecimal.
create or replace function timeline_of(identity text) returns integer language sql immutable
return ('x' || split_part(identity, '/', 2))::bit(32)::integer;

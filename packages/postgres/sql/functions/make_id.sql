-- Creates an id: a prefix and a UUIDv7 (RFC 9562 5.7) in hex. PostgreSQL has uuidv7() only since version 18.
create or replace function make_id(prefix text) returns text language sql volatile as $$
  select prefix || '_' || encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')
$$;

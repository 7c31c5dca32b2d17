-- What each e-mail of a program must show of its sender: the name and the postal address. Programs of before have none, and their
-- campaigns go on; a campaign is only created for a program that has both.

alter table programs add column if not exists sender_name text, add column if not exists postal_address text;

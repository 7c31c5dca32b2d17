-- Creates the roles of the service and gives the database to their owner. The administrator of the server runs it once, with psql 15 or later, on a new
-- database: a superuser, or who owns the database and may create roles and databases, as in a managed service (docs/connections.md).
--   OWNER_PASSWORD=… API_PASSWORD=… WORKER_PASSWORD=… OPERATOR_PASSWORD=… READER_PASSWORD=… psql -d outreach -f deploy/create-roles.sql
-- The rights on tables come from `ops migrate --grant-to`, which the owner runs.
\set ON_ERROR_STOP on
\getenv owner_password OWNER_PASSWORD
\getenv api_password API_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv operator_password OPERATOR_PASSWORD
\getenv reader_password READER_PASSWORD

begin;
create role outreach_owner login password :'owner_password';
create role outreach_api login password :'api_password';
create role outreach_worker login password :'worker_password';
create role outreach_operator login password :'operator_password';
create role outreach_reader login password :'reader_password';

-- PgBouncer in transaction mode does not pass the settings of a session on, so the roles have them.
select format('alter role outreach_%s set %s = %L', role, name, value)
from unnest(array['api', 'worker', 'operator', 'reader']) role,
  (values ('timezone', 'UTC'), ('statement_timeout', '30s'), ('idle_in_transaction_session_timeout', '30s'),
    ('client_connection_check_interval', '2s'), ('jit', 'off')) setting (name, value) \gexec

-- The worker's metrics and the operators see how long transactions of other roles last.
do $$
begin
  grant pg_monitor to outreach_worker, outreach_operator;
exception when insufficient_privilege then
  raise warning 'Metrics and operators see no transactions of other roles: this administrator may not grant pg_monitor to outreach_worker and outreach_operator.';
end
$$;

-- Only a superuser gives a database to a role without being a member of it.
select not rolsuper as must_join from pg_roles where rolname = current_user \gset
\if :must_join
grant outreach_owner to current_user;
\endif

-- The owner of the database also owns its schema.
alter database :"DBNAME" owner to outreach_owner;
revoke connect, temporary on database :"DBNAME" from public;
grant connect on database :"DBNAME" to outreach_api, outreach_worker, outreach_operator, outreach_reader;
-- Imports compare the lines of a file in a temporary table.
grant temporary on database :"DBNAME" to outreach_operator;
commit;

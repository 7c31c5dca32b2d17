import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

const decodeTexts = decodeRows({ text: Schema.String })

/** Runs a query, and appends a semicolon to each returned statement. */
const read = <E, R>(statements: Effect.Effect<ReadonlyArray<object>, E, R>) =>
  Effect.map(decodeTexts(statements), (rows) => rows.map(({ text }) => `${text};`))

/**
 * Dumps the schema from the catalog tables as SQL that recreates it: functions, tables, indexes, foreign keys and
 * triggers, sorted by name.
 *
 * The output depends only on the schema, so it can be committed and compared. Dies if it finds an unsupported kind of object.
 */
export const dumpSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const unknown = yield* sql`
    select relname as text from pg_class
    where relnamespace = 'public'::regnamespace and relkind not in ('r', 'p', 'i', 'I', 'c')
    union all
    select typname from pg_type
    where typnamespace = 'public'::regnamespace and typtype not in ('b', 'c')
    union all
    select proname from pg_proc where pronamespace = 'public'::regnamespace and prokind not in ('f', 'p')
    union all
    select attname from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and attgenerated not in ('', 's')
    order by text`.pipe(decodeTexts)
  if (unknown.length > 0) {
    const names = unknown.map(({ text }) => text).join(", ")
    return yield* Effect.die(new Error(`dumpSchema does not support ${names}.`))
  }

  const functions = yield* read(sql`
    select trim(trailing from pg_get_functiondef(oid), E' \n') as text
    from pg_proc where pronamespace = 'public'::regnamespace
    order by proname collate "C", pg_get_function_identity_arguments(oid) collate "C"`)

  const tables = yield* read(sql`
    select concat(
      format(E'create %stable %I (\\n  ', case relpersistence when 'u' then 'unlogged ' else '' end, relname),
      array_to_string(array(
        select concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
          (select format('collate %I', collname) from pg_collation
            where pg_collation.oid = attcollation and attcollation <> typcollation),
          (select format(case attgenerated when 's' then 'generated always as (%s) stored' else 'default %s' end, pg_get_expr(adbin, adrelid))
            from pg_attrdef where adrelid = attrelid and adnum = attnum),
          case when attnotnull then 'not null' end)
        from pg_attribute join pg_type on pg_type.oid = atttypid
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped
        order by attnum
      ) || array(
        select format('constraint %I %s', conname, pg_get_constraintdef(oid))
        from pg_constraint where conrelid = pg_class.oid and contype in ('p', 'u', 'c', 'x')
        order by array_position('{p,u,c,x}', contype::text), conname collate "C"
      ), E',\\n  '), E'\\n)', ' partition by ' || pg_get_partkeydef(oid), ' with (' || array_to_string(reloptions, ', ') || ')'
    ) as text
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname collate "C"`)

  const partitions = yield* read(sql`
    select format('create table %I partition of %I %s%s', relname, inhparent::regclass, (
        -- The table's constraints, without inherited ones and foreign keys.
        select '(' || string_agg(format('constraint %I %s', conname, pg_get_constraintdef(pg_constraint.oid)), ', ' order by conname collate "C") || ') '
        from pg_constraint where conrelid = pg_class.oid and contype in ('p', 'u', 'c', 'x') and coninhcount = 0
      ), pg_get_expr(relpartbound, oid)) as text
    from pg_class join pg_inherits on inhrelid = oid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relispartition
    order by relname collate "C"`)

  // An index of a partitioned table creates the indexes of its partitions.
  const indexes = yield* read(sql`
    select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as text
    from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace and not relispartition
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    order by relname collate "C"`)

  const foreignKeys = yield* read(sql`
    select format('alter table %I add constraint %I %s', relname, conname, pg_get_constraintdef(pg_constraint.oid)) as text
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where relnamespace = 'public'::regnamespace and contype = 'f' and conparentid = 0
    order by relname collate "C", conname collate "C"`)

  const triggers = yield* read(sql`
    select pg_get_triggerdef(pg_trigger.oid) as text
    from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'public'::regnamespace and not tgisinternal and tgparentid = 0
    order by relname collate "C", tgname collate "C"`)

  return [
    "-- Made by `pnpm schema` from the migrations; never edit it by hand.",
    // Function bodies refer to tables that are created later, and the tables' defaults call the functions.
    "set check_function_bodies = off;",
    ...functions,
    ...tables,
    ...partitions,
    ...[indexes, foreignKeys, triggers].map((statements) => statements.join("\n")),
  ]
    .join("\n\n")
    .concat("\n")
})

import type { MovedTable } from "@outreach/backoffice/organizations/OrganizationReader"
import type { Organization } from "@outreach/domain/organizations/Organization"

/** A step of a move: what to run on one server, by `psql` as the owner of the tables, and by `ops`. */
export interface MoveStep {
  readonly at: "source" | "target" | "both"
  readonly title: string
  /** Each is run by itself, and not in a transaction with others. */
  readonly statements: ReadonlyArray<string>
  /** The commands of `ops`, to be run before the statements. */
  readonly commands: ReadonlyArray<string>
}

/** The tables that the API goes on writing at the source after the switch, for as long as links lead there. Unsubscriptions are counted as changes. */
const LINK_TABLES = ["hits", "unsubscriptions", "campaign_count_changes"]
/** What the target decides about a hit, and the source must not overwrite. */
const JUDGMENT_COLUMNS = ["judged_at", "reasons"]
const CONNECTION = "host=SOURCE port=5432 dbname=DATABASE user=USER password=PASSWORD"

/**
 * Composes the steps that move an organization from one server (the source) to another (the target) by logical replication.
 *
 * The statements select by the id alone. Addresses, names and secrets of connections are words in capitals.
 */
export const movePlan = (
  { id, name, contacts, createdAt }: Organization,
  tables: ReadonlyArray<MovedTable>,
): ReadonlyArray<MoveStep> => {
  const move = `move_${id}`
  const own = `organization_id = ${literal(id)}`
  const ofTables = (write: (table: MovedTable) => string) => tables.map(write).join(",\n  ")
  const linkTables = tables.filter((table) => LINK_TABLES.includes(table.name))
  const withoutJudgment = ({ columns }: MovedTable) => columns.filter((column) => !JUDGMENT_COLUMNS.includes(column))
  const ops = (command: string) => `ops organizations ${command} ${id}`

  const steps: ReadonlyArray<Pick<MoveStep, "at" | "title"> & Partial<MoveStep>> = [
    {
      at: "source",
      title:
        "Publish the organization. wal_level must be logical, and max_slot_wal_keep_size bounds what a lost target can hold up.",
      statements: [
        "show wal_level",
        `create publication ${move} for table\n  ${ofTables(({ name }) => `${name} where (${own})`)}\n` +
          "with (publish = 'insert, update, delete', publish_via_partition_root = true)",
      ],
    },
    {
      at: "target",
      title:
        "Create the organization, frozen, and copy it, on a schema that `ops migrate` of the same release made. USER may replicate and read.",
      statements: [
        "insert into organizations (id, name, contacts, created_at, frozen_at)\n" +
          `values (${literal(id)}, ${literal(name)}, array[${contacts.map(literal).join(", ")}]::text[], ${literal(createdAt)}, clock_timestamp())`,
        `create subscription ${move}\nconnection '${CONNECTION}'\npublication ${move} with (disable_on_error = true)`,
      ],
    },
    {
      at: "target",
      title: "Wait until no table is left here: all is copied. No foreign key is checked, so the tables have no order.",
      statements: [
        "select srrelid::regclass as copying from pg_subscription_rel join pg_subscription on oid = srsubid\n" +
          `where subname = '${move}' and srsubstate <> 'r'`,
      ],
    },
    {
      at: "source",
      title:
        "Freeze the organization. Then repeat the second statement in the same session until it shows that all has drained.",
      commands: [ops("freeze")],
      statements: [
        "select set_config('move.frozen_at', pg_current_wal_lsn()::text, false)",
        "select confirmed_flush_lsn >= current_setting('move.frozen_at')::pg_lsn as drained, confirmed_flush_lsn\n" +
          `from pg_replication_slots where slot_name = '${move}'`,
      ],
    },
    {
      at: "both",
      title: "Compare: both servers have the same rows.",
      statements: [
        `${tables.map(({ name }) => `select '${name}' as "table", count(*) from ${name} where ${own}`).join("\nunion all ")}\norder by 1`,
      ],
    },
    {
      at: "source",
      title:
        "Switch, first here: from now on only hits, unsubscriptions and their counts follow, by links that still lead here.",
      statements: [
        `alter publication ${move} set table\n  ${linkTables
          .map((table) => `${table.name} (${withoutJudgment(table).join(", ")}) where (${own})`)
          .join(",\n  ")}`,
      ],
    },
    {
      at: "target",
      title: "Switch: a recipient may unsubscribe here and by a link to the source, and neither stops the other.",
      statements: [
        `create or replace function keep_one_unsubscription() returns trigger language plpgsql set search_path from current as $$
begin
  update unsubscriptions set asked_at = new.asked_at, from_organization = from_organization or new.from_organization,
    suppressed_at = null, revoked_at = null, lifted_at = null
  where organization_id = new.organization_id and recipient_id = new.recipient_id;
  if found then
    return null;
  end if;
  return new;
end
$$`,
        "create or replace trigger keep_one_unsubscription before insert on unsubscriptions\n" +
          "for each row execute function keep_one_unsubscription()",
        "alter table unsubscriptions enable replica trigger keep_one_unsubscription",
      ],
    },
    {
      at: "target",
      title: "Serve the organization, and let its partner call here.",
      commands: [ops("unfreeze")],
    },
    {
      at: "target",
      title:
        "Clean up, once neither the partner nor a link reaches the source any more. Leave the function while another organization moves here.",
      statements: [`drop subscription ${move}`, "drop function keep_one_unsubscription() cascade"],
    },
    {
      at: "source",
      title: "Clean up. The organization itself stays, frozen. Every later request for it is refused for good.",
      statements: [
        `drop publication ${move}`,
        ...referringFirst(tables).map(({ name }) => `delete from ${name} where ${own}`),
      ],
    },
  ]
  return steps.map((step) => ({ commands: [], statements: [], ...step }))
}

/** Writes the steps as a text that `psql` reads: what is no statement is a comment. */
export const formatMovePlan = (steps: ReadonlyArray<MoveStep>): string =>
  steps
    .map(({ at, title, commands, statements }, position) =>
      [
        `-- ${position + 1}. ${at === "both" ? "At both" : `At the ${at}`}. ${title}`,
        ...commands.map((command) => `--    ${command}`),
        ...statements.map((statement) => `${statement};`),
      ].join("\n"),
    )
    .join("\n\n")

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Orders tables so that each comes before those that its foreign keys lead to. */
const referringFirst = (tables: ReadonlyArray<MovedTable>): ReadonlyArray<MovedTable> => {
  const free = tables.filter(({ name }) => !tables.some(({ references }) => references.includes(name)))
  return free.length === 0 ? tables : [...free, ...referringFirst(tables.filter((table) => !free.includes(table)))]
}

import { fromUnixMillis } from "@outreach/domain/Timestamp"
import type { PartitionState } from "@outreach/postgres/inspection/SystemReader"
import { formatBytes, formatCount } from "../../components/format.ts"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { useView } from "../../components/View.ts"
import type { consoleSettings } from "./consoleSettings.ts"
import { Part } from "./Part.tsx"
import type { System } from "./readSystem.ts"

/** How large the tables are. */
export const Storage = ({ partitions, tables }: System) => (
  <section>
    <h2>Storage</h2>
    <Part of={partitions}>
      {(rows) => (
        <Table
          caption="Partitioned tables"
          rows={rows}
          empty="No table has partitions."
          columns={[
            { header: "Table", cell: ({ table }) => table },
            { header: "Partitions", numeric: true, cell: ({ partitions }) => formatCount(partitions) },
            { header: "Oldest", cell: ({ oldest }) => oldest ?? "–" },
            { header: "Newest", cell: (row) => <Newest {...row} /> },
            {
              header: "Rows outside",
              numeric: true,
              cell: ({ outside }) =>
                outside === 0 ? "0" : <StatusBadge tone="warning">{`about ${formatCount(outside)}`}</StatusBadge>,
            },
          ]}
        />
      )}
    </Part>
    <Part of={tables}>
      {(rows) => (
        <Table
          caption="Largest tables"
          rows={rows}
          empty="There is no table: run ops migrate."
          columns={[
            { header: "Table", cell: ({ name }) => name },
            { header: "Size", numeric: true, cell: ({ bytes }) => formatBytes(bytes) },
            { header: "Of it indexes", numeric: true, cell: ({ indexBytes }) => formatBytes(indexBytes) },
            { header: "Rows, about", numeric: true, cell: ({ rows }) => (rows === null ? "–" : formatCount(rows)) },
            { header: "Remains of rows", numeric: true, cell: ({ deadRows }) => formatCount(deadRows) },
            { header: "Last vacuumed", cell: ({ vacuumedAt }) => <Time at={vacuumedAt} /> },
          ]}
        />
      )}
    </Part>
  </section>
)

/** The newest partition; a worker adds those of the time to come. */
const Newest = ({ newest }: PartitionState) => {
  const { now } = useView()
  const today = fromUnixMillis(now).slice(0, newest?.length)
  if (newest !== null && newest >= today) return <>{newest}</>
  return <StatusBadge tone="warning">{`${newest ?? "none"}: a worker adds today's`}</StatusBadge>
}

/** How the console and the server are set up. */
export const Settings = (props: System & { readonly consoleSettings: ReturnType<typeof consoleSettings> }) => (
  <section>
    <h2>Settings</h2>
    <Table
      caption="Settings of this console, without secrets"
      rows={props.consoleSettings}
      empty="None."
      columns={[
        { header: "Setting", cell: ({ name }) => <code>{name}</code> },
        { header: "Value", cell: ({ value }) => value },
      ]}
    />
    <Part of={props.settings}>
      {(rows) => (
        <Table
          caption="Settings of the database server"
          rows={rows}
          empty="None could be read."
          columns={[
            { header: "Setting", cell: ({ name }) => <code>{name}</code> },
            { header: "Value", cell: ({ value }) => (value === "" ? "none" : value) },
            {
              header: "From",
              cell: ({ source, needsRestart }) => (needsRestart ? `${source}; waits for a restart` : source),
            },
          ]}
        />
      )}
    </Part>
  </section>
)

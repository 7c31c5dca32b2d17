import { type Columns, Table } from "../../components/lists.tsx"

/** A table of what was read, or that it could not be. */
export const SystemTable = <Row,>(props: {
  readonly caption: string
  /** Undefined if they could not be read. */
  readonly rows: ReadonlyArray<Row> | undefined
  readonly empty: string
  readonly columns: Columns<Row>
}) => (props.rows === undefined ? <NotRead /> : <Table {...props} rows={props.rows} />)

export const NotRead = () => (
  <p class="problem">This could not be read. The console's log and the database's say why.</p>
)

/**
 * How an endpoint reads its organization's log: the row that stands in the database, and what the worker that owns it knows.
 *
 * An intent is written before calls begin: the row says up to where calls may have begun, and which of those events are open, that
 * is, not settled. Whoever takes the row from a lost owner knows from it exactly what may have to be sent again.
 */

/** The row of a reader, as far as the protocol goes. */
export interface ReaderRow<Event> {
  /** How many events of the log the row has passed: calls may have begun for each of them. */
  readonly begun: number
  /** Those of them that are not settled. */
  readonly open: ReadonlyArray<Event>
  /** The worker that may write. */
  readonly owner: string | null
}

/** Writes the intent to call for the next events; undefined when the row is no longer the owner's. */
export const intend = <Event>(
  row: ReaderRow<Event>,
  owner: string,
  events: ReadonlyArray<Event>,
): ReaderRow<Event> | undefined =>
  row.owner === owner ? { ...row, begun: row.begun + events.length, open: [...row.open, ...events] } : undefined

/** Writes what is still open; undefined when the row is no longer the owner's. */
export const writeOpen = <Event>(
  row: ReaderRow<Event>,
  owner: string,
  open: ReadonlyArray<Event>,
): ReaderRow<Event> | undefined => (row.owner === owner ? { ...row, open } : undefined)

/** Gives a row to a new owner, or to none; what was open is returned, to go on as rows of its own. */
export const passOn = <Event>(
  row: ReaderRow<Event>,
  owner: string | null,
): readonly [row: ReaderRow<Event>, open: ReadonlyArray<Event>] => [{ ...row, open: [], owner }, row.open]

/** What a worker knows of a reader that it owns. */
export interface LogReader<Event> {
  /** Read, with the intent written; no call has begun. */
  readonly waiting: ReadonlyArray<Event>
  readonly calling: ReadonlyArray<Event>
  /** Called, and the outcome is not written. */
  readonly answered: ReadonlyArray<Event>
}

/** A reader that has just been taken. */
export const IDLE: LogReader<never> = { waiting: [], calling: [], answered: [] }

/** Notes what was read. */
export const afterRead = <Event>(reader: LogReader<Event>, events: ReadonlyArray<Event>): LogReader<Event> => ({
  ...reader,
  waiting: [...reader.waiting, ...events],
})

/** Begins the call for the event that has waited longest. */
export const begin = <Event>(reader: LogReader<Event>): LogReader<Event> => {
  const [next, ...waiting] = reader.waiting
  return next === undefined ? reader : { ...reader, waiting, calling: [...reader.calling, next] }
}

/** Notes that a call ended before it was an attempt: its event is the next again. */
export const putBack = <Event>(reader: LogReader<Event>, event: Event): LogReader<Event> => ({
  ...reader,
  waiting: [event, ...reader.waiting],
  calling: reader.calling.filter((each) => each !== event),
})

/** Notes that a call has ended. */
export const answer = <Event>(reader: LogReader<Event>, event: Event): LogReader<Event> => ({
  ...reader,
  calling: reader.calling.filter((each) => each !== event),
  answered: [...reader.answered, event],
})

/** What is open once the outcomes of `answered` are written. */
export const stillOpen = <Event>({ waiting, calling }: LogReader<Event>): ReadonlyArray<Event> => [
  ...calling,
  ...waiting,
]

/** Notes that outcomes were written. */
export const afterWrite = <Event>(reader: LogReader<Event>, written: ReadonlyArray<Event>): LogReader<Event> => ({
  ...reader,
  answered: reader.answered.filter((each) => !written.includes(each)),
})

/**
 * A worker's deliveries from the log of an endpoint that it owns, by their state. `logReader.test.ts` contains the model of the protocol.
 *
 * An intent is written before calls start: the database row contains the last event that may have been called, and the open, unsettled
 * events. From this, the next owner of a lost worker's row knows which events may have to be sent again.
 */
export interface LogReader<Event> {
  /** Without a written intent. */
  readonly read: ReadonlyArray<Event>
  /** With a written intent, but without a call. */
  readonly waiting: ReadonlyArray<Event>
  /** With a started call, but without a written outcome. */
  readonly called: ReadonlyArray<Event>
}

export const IDLE: LogReader<never> = { read: [], waiting: [], called: [] }

export const afterRead = <Event>(reader: LogReader<Event>, read: ReadonlyArray<Event>): LogReader<Event> => ({
  ...reader,
  read,
})

/** Starts the call for the event that has waited longest. */
export const begin = <Event>(reader: LogReader<Event>): LogReader<Event> => {
  const [next, ...waiting] = reader.waiting
  return next === undefined ? reader : { ...reader, waiting, called: [...reader.called, next] }
}

/** Records that a call ended before it was an attempt: its event is next again. */
export const putBack = <Event>(reader: LogReader<Event>, event: Event): LogReader<Event> => ({
  ...reader,
  waiting: [event, ...reader.waiting],
  called: reader.called.filter((each) => each !== event),
})

/** Records that the outcomes of some events were written, with the intent to call for those that were read. */
export const afterWrite = <Event>(
  { read, waiting, called }: LogReader<Event>,
  isWritten: (event: Event) => boolean,
): LogReader<Event> => ({
  read: [],
  waiting: [...waiting, ...read],
  called: called.filter((each) => !isWritten(each)),
})

/** Returns the events that the database row must contain as open. */
export const stillOpen = <Event>({ waiting, called }: LogReader<Event>): ReadonlyArray<Event> => [...called, ...waiting]

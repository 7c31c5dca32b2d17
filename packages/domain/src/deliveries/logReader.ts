/**
 * A worker's view of the log of an endpoint that it owns. `logReader.test.ts` contains the model of the protocol.
 *
 * An intent is written before calls start: the database row contains the last event that may have been called, and the open, unsettled
 * events. From this, the next owner of a lost worker's row knows which events may have to be sent again.
 */
export interface LogReader<Event> {
  /** Read, with a written intent, but without a call. */
  readonly waiting: ReadonlyArray<Event>
  readonly calling: ReadonlyArray<Event>
  /** Called, with an unwritten outcome. */
  readonly answered: ReadonlyArray<Event>
}

export const IDLE: LogReader<never> = { waiting: [], calling: [], answered: [] }

export const afterRead = <Event>(reader: LogReader<Event>, events: ReadonlyArray<Event>): LogReader<Event> => ({
  ...reader,
  waiting: [...reader.waiting, ...events],
})

/** Starts the call for the event that has waited longest. */
export const begin = <Event>(reader: LogReader<Event>): LogReader<Event> => {
  const [next, ...waiting] = reader.waiting
  return next === undefined ? reader : { ...reader, waiting, calling: [...reader.calling, next] }
}

/** Records that a call ended before it was an attempt: its event is next again. */
export const putBack = <Event>(reader: LogReader<Event>, event: Event): LogReader<Event> => ({
  ...reader,
  waiting: [event, ...reader.waiting],
  calling: reader.calling.filter((each) => each !== event),
})

export const answer = <Event>(reader: LogReader<Event>, event: Event): LogReader<Event> => ({
  ...reader,
  calling: reader.calling.filter((each) => each !== event),
  answered: [...reader.answered, event],
})

/** Returns the events with unwritten outcomes. */
export const stillOpen = <Event>({ waiting, calling, answered }: LogReader<Event>): ReadonlyArray<Event> => [
  ...answered,
  ...calling,
  ...waiting,
]

export const afterWrite = <Event>(reader: LogReader<Event>, written: ReadonlyArray<Event>): LogReader<Event> => ({
  ...reader,
  answered: reader.answered.filter((each) => !written.includes(each)),
})

/**
 * A worker's deliveries from the log of an endpoint that it owns, by their state. `logReader.test.ts` contains the model of the protocol.
 *
 * The statement that reads events also writes that they are open: calls for them may start, and their outcomes are unwritten. From this, the next
 * owner of a lost worker's row knows which events may have to be sent again, and the worker finds the events of a reading without a reply.
 */
export interface LogReader<Event> {
  /** Without a call. */
  readonly waiting: ReadonlyArray<Event>
  /** With a started call, but without a written outcome. */
  readonly called: ReadonlyArray<Event>
}

export const IDLE: LogReader<never> = { waiting: [], called: [] }

export const afterRead = <Event>(
  { waiting, called }: LogReader<Event>,
  read: ReadonlyArray<Event>,
): LogReader<Event> => ({ waiting: [...waiting, ...read], called })

/** Starts the call for the event that has waited longest. */
export const begin = <Event>(reader: LogReader<Event>): LogReader<Event> => {
  const [next, ...waiting] = reader.waiting
  return next === undefined ? reader : { waiting, called: [...reader.called, next] }
}

/** Records that a call ended before it was an attempt: its event is next again. */
export const putBack = <Event>({ waiting, called }: LogReader<Event>, event: Event): LogReader<Event> => ({
  waiting: [event, ...waiting],
  called: called.filter((each) => each !== event),
})

/** Records that the outcomes of some events were written. */
export const afterWrite = <Event>(
  { waiting, called }: LogReader<Event>,
  isWritten: (event: Event) => boolean,
): LogReader<Event> => ({ waiting, called: called.filter((each) => !isWritten(each)) })

/** Returns the events that the worker has: the database row may contain further open ones, which it must read again. */
export const eventsOf = <Event>({ waiting, called }: LogReader<Event>): ReadonlyArray<Event> => [...called, ...waiting]

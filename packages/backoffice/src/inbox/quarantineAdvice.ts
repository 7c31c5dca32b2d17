/** Returns advice for an operator about a quarantine reason. */
export const quarantineAdvice = (reason: string): string => {
  if (reason.startsWith("livemode:")) {
    return "It was sent to the wrong deployment and can't be applied here. Tell the partner to send it to the other deployment."
  }
  if (reason.startsWith("data.consumer_program_slug names no program")) {
    return "Create a program with the event's slug, then replay the event. If the slug is wrong, the partner must send the event again with a new id."
  }
  if (reason.startsWith("it could not be applied:")) {
    return "The database rejected it. See the worker's log. Fix the cause, then replay the event."
  }
  return "The event is invalid, so a replay fails too. The partner must send a corrected event with a new id."
}

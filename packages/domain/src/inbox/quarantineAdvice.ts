/** Returns advice for an operator about a quarantine reason. */
export const quarantineAdvice = (reason: string): string => {
  if (reason.startsWith("livemode:")) {
    return "It was sent to the wrong deployment, and can never be applied here. Tell the partner to send it to the other one."
  }
  if (reason.startsWith("data.consumer_program_slug names no program")) {
    return "Create the program under the slug that the event names, and replay the event. If the slug is wrong, the partner sends the event again under a new id."
  }
  if (reason.startsWith("it could not be applied:")) {
    return "The database refused it. The worker's log has more; replay the event when the cause is gone."
  }
  return "What the partner sent is not valid, and a replay fails again. The partner sends it again, corrected and under a new id."
}

/** Handles SIGHUP like SIGTERM, so that closing a terminal doesn't kill the process in the middle of its work. */
export const stopOnHangUp = (): void => {
  process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))
}

/** Lets SIGHUP stop this process as SIGTERM does, because a closed terminal must not end it in the middle of its work. */
export const stopOnHangUp = (): void => {
  process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))
}

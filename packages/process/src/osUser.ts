import { userInfo } from "node:os"

/** Returns the name of the operating system's user that the process runs as. */
export const osUser = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.()}`
  }
}

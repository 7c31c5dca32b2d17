import { userInfo } from "node:os"

/** Returns the name of the process's operating-system user. */
export const osUser = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.()}`
  }
}

import { existsSync, readFileSync } from "node:fs"
import { userInfo } from "node:os"

/** Reports whether this process may install Debian packages. */
export const isRootOnDebian = (): boolean =>
  userInfo().uid === 0 && existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"))

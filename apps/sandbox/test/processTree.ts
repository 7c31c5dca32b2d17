import { childrenOf, isRunning, processToken } from "@outreach/embedded-postgres/processToken"

/** Lists the tokens of a process and all its descendants. A token starts with the pid. */
export const processTree = async (pid: number): Promise<ReadonlyArray<string>> => {
  const children = await childrenOf(pid).catch(() => [])
  const below = await Promise.all(children.map(processTree))
  return [(await processToken(pid)) ?? [], ...below].flat()
}

export const runningOf = async (tokens: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const running = await Promise.all(tokens.map(isRunning))
  return tokens.filter((_, index) => running[index])
}

const WRITE =
  /\b(insert into|delete from|update)\s+(?:only\s+)?"?([a-z_]\w*)"?(?=\s+(?:as\s|set\b|using\b|where\b|\w+\s+set\b|\()|\s*\(|\s*$)/i
const CALL = /\b(?:from|select)\s+([a-z_]\w*_\w*)\s*\(/i
const READ = /\bfrom\s+"?([a-z_]\w*)"?/i

/** Returns the name of a statement: verb and table, or the called function, such as `insert into inbox` or `take_due`. */
export const statementName = (text: string): string => {
  const [, verb, table] = WRITE.exec(text) ?? []
  if (verb !== undefined) return `${verb.toLowerCase()} ${table}`
  const called = CALL.exec(text)?.[1]
  if (called !== undefined) return called
  const read = READ.exec(text)?.[1]
  return read === undefined ? (/\w+/.exec(text)?.[0].toLowerCase() ?? "statement") : `select from ${read}`
}

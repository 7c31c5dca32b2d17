/** Finds the signature among headers of any making; empty when there is none, and several of them joined. */
export function signatureHeader(headers: unknown): string {
  const given = headers as Iterable<unknown> & object
  // Name, value, name, value: as Node's rawHeaders are, and pairs once they are flattened.
  const flat = (given[Symbol.iterator] ? [...given] : Object.entries(given)).flat()
  // Names that differ in case alone are kept together, so that none shadows another.
  return flat.filter((_, i) => i % 2 && /^x-signature$/i.test(flat[i - 1] as string)).join()
}

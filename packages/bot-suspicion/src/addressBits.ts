/** Returns the version of an IP address and its bits as text, such as `4` and 32 digits; empty when it is not an address. */
export function addressBits(address: string): string {
  const four = address.replace(/^::ffff:(?=\d+\.)/i, "").split(".", 5)
  if (four.length > 1) return four.length === 4 ? bits("4", four, /^\d{1,3}$/, 10, 8) : ""
  const [head = "", tail, more] = address.split("::", 3)
  const [left, right] = [head, tail].map((part) => (part ? part.split(":", 9) : [])) as [string[], string[]]
  const zeros = 8 - left.length - right.length
  if (more !== undefined || (tail === undefined ? zeros !== 0 : zeros < 1)) return ""
  return bits("6", [...left, ...Array<string>(zeros).fill("0"), ...right], /^[\da-f]{1,4}$/i, 16, 16)
}

/** Returns what the bits of all addresses of a network begin with, for one such as `192.0.2.0/24`. */
export function networkBits(range: string): string {
  const [start = "", size] = range.split("/")
  return addressBits(start).slice(0, 1 + Number(size))
}

function bits(version: string, groups: readonly string[], form: RegExp, radix: number, width: number): string {
  let found = version
  for (const group of groups) {
    const number = form.test(group) ? Number.parseInt(group, radix) : Number.NaN
    if (!(number < 2 ** width)) return ""
    found += number.toString(2).padStart(width, "0")
  }
  return found
}

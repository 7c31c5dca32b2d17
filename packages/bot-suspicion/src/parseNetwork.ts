/** An address or the first address of a network, as a number of 32 or 128 bits. */
interface Parsed {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** Creates a function that reports whether an address lies in a range such as `192.0.2.0/24` or `2001:db8::/32`. */
export function parseNetwork(range: string): (address: string) => boolean {
  const [start = "", length = ""] = range.split("/")
  const network = parse(start)
  const size = Number(length)
  if (network === undefined || !/^\d{1,3}$/.test(length) || size > network.bits) {
    throw new RangeError(`"${range}" is not a network`)
  }
  const rest = BigInt(network.bits - size)
  return (address) => {
    const found = parse(address)
    return found?.bits === network.bits && found.value >> rest === network.value >> rest
  }
}

function parse(address: string): Parsed | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  const four = parseGroups((mapped ?? address).split("."), 4, /^\d{1,3}$/, 10, 8)
  if (four !== undefined) return { bits: 32, value: four }

  const [head, tail, ...more] = address.split("::")
  if (more.length > 0 || head === undefined) return undefined
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  if (zeros < 0 || (tail !== undefined && zeros === 0)) return undefined
  const six = parseGroups([...left, ...Array<string>(zeros).fill("0"), ...right], 8, /^[\da-f]{1,4}$/i, 16, 16)
  return six === undefined ? undefined : { bits: 128, value: six }
}

function parseGroups(
  groups: readonly string[],
  count: number,
  form: RegExp,
  radix: number,
  width: number,
): bigint | undefined {
  if (groups.length !== count) return undefined
  let value = 0n
  for (const group of groups) {
    const number = form.test(group) ? Number.parseInt(group, radix) : Number.NaN
    if (!(number < 2 ** width)) return undefined
    value = (value << BigInt(width)) | BigInt(number)
  }
  return value
}

import { canonicalEmail } from "@outreach/domain/recipients/EmailAddress"

export const REPEATED = "repeated"

interface Line {
  readonly number: number
  readonly npi: string
  readonly email: string
}

/**
 * Creates the function that compares a valid line with the earlier ones of its file: `repeated` for the same NPI and address, undefined for new
 * ones, or why the two lines contradict each other. It returns the same when the lines come a second time.
 */
export const createFirstLines = (): ((line: Line) => string | undefined) => {
  const { lineOf, add } = createTable()
  return ({ number, npi, email }) => {
    const address = (/^[ -~]*$/.test(email) ? email : (canonicalEmail(email) ?? email)).toLowerCase()
    const found = [lineOf(npi), lineOf(address)] as const
    if (found[0] === 0 && found[1] === 0) {
      add(npi, number)
      add(address, number)
    }
    const [ofNpi, ofEmail] = found.map((line) => (line > number ? 0 : line)) as [number, number]
    if (ofNpi === ofEmail) return ofNpi === 0 || ofNpi === number ? undefined : REPEATED
    return ofNpi === 0
      ? `line ${ofEmail} has this e-mail address with another NPI: keep the line that is right`
      : `line ${ofNpi} has this NPI with another e-mail address: keep the line that is right`
  }
}

/** Creates a table of line numbers by text. It keeps 64 bits of a text's hash, and takes 24 to 48 bytes for each, outside of the heap. */
const createTable = () => {
  let slots = new Uint32Array(3 << 10)
  let size = 0
  const find = (one: number, other: number): number => {
    let slot = 3 * (one % (slots.length / 3))
    while (slots[slot + 2] !== 0 && (slots[slot] !== one || slots[slot + 1] !== other)) slot = (slot + 3) % slots.length
    return slot
  }
  const seeds = crypto.getRandomValues(new Uint32Array(2))
  return {
    /** Returns 0 for a text that was not added. */
    lineOf: (text: string): number => slots[find(...hash(text, seeds)) + 2]!,
    add: (text: string, line: number): void => {
      if (6 * ++size > slots.length) {
        const old = slots
        slots = new Uint32Array(2 * old.length)
        for (let i = 0; i < old.length; i += 3)
          if (old[i + 2] !== 0) slots.set(old.subarray(i, i + 3), find(old[i]!, old[i + 1]!))
      }
      const [one, other] = hash(text, seeds)
      slots.set([one, other, line], find(one, other))
    },
  }
}

/**
 * Hashes a text to two numbers of 32 bits. Each has a multiplier of its own: with one for both, texts that agree in one number would tend to agree
 * in the other.
 */
const hash = (text: string, seeds: Uint32Array): readonly [number, number] => {
  let [one = 0, other = 0] = seeds
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    one = Math.imul(one ^ code, 0x9e3779b1)
    other = Math.imul(other ^ code, 0x5f356495)
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35)
  other = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35)
  return [one >>> 0, other >>> 0]
}

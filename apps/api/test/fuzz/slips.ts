import fc from "fast-check"

/** Creates the arbitrary of similar texts: one character removed, added or replaced. */
export const slips = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(text.length), fc.nat(1), fc.oneof(fc.constantFrom("", ..." 0:+-\n\0é%"), fc.string({ maxLength: 1 })))
    .map(([at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut))
    .filter((slipped) => slipped !== text)

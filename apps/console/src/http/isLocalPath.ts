// Browsers read a backslash in a path as a slash, and leave out tabs and line breaks. In a query a backslash is itself.
const LOCAL_PATH = /^\/(?![/\\])[!->@-[\]-~]*(?:\?[!-~]*)?$/

/** Reports whether an address leads to a path of this console, because it begins with exactly one slash. */
export const isLocalPath = (address: string): boolean => LOCAL_PATH.test(address)

const PLAIN_WORD = /^[\w%+,./:@…-][\w%+,./:=@…-]*$/

/** Returns a text as one word of a POSIX shell, without any evaluation. */
export const shellWord = (text: string): string =>
  PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Returns a command for a shell. */
export const formatCommand = (words: ReadonlyArray<string>): string => words.map(shellWord).join(" ")

/** Reads a domain name, or a part of one; undefined when it is not valid. */
export const readDomain = (text: string): string | undefined => (/^([\w-]+(\.[\w-]+)*)?$/.test(text) ? text : undefined)

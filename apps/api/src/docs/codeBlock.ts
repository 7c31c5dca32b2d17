/** A block of code in Markdown. */
export const CODE_BLOCK = /^(```.*\n[\s\S]*?\n```)$/gm

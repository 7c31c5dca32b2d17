/** Renames the fields of a value, at every depth, to the API's snake case. */
export const snakeCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [snakeName(field), snakeCase(inner)]))
}

/** Renames one field: `createdAt` becomes `created_at`. */
export const snakeName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

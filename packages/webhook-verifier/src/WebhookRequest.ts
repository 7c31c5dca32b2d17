/** Headers of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
export type WebhookHeaders =
  // A `Headers` without lib DOM.Iterable.
  | { get(name: string): string | null; forEach(each: (value: string, name: string) => void): void }
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | { readonly [name: string]: string | readonly string[] | undefined }

/** A request before anything parsed its body: a Fetch `Request`, or headers beside the raw body. */
export type WebhookRequest =
  | {
      readonly headers: WebhookHeaders
      readonly bodyUsed: boolean
      arrayBuffer(): Promise<ArrayBuffer>
    }
  | {
      readonly headers: WebhookHeaders
      /** The raw body; a string stands for its UTF-8 bytes. */
      readonly body: Uint8Array | ArrayBuffer | string
      /** The raw body where a framework keeps it beside the parsed one; comes before `body`. */
      readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined
    }

import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { LinkLine, Narrow } from "../components/lists.tsx"
import type { PageRenderer } from "./PageRenderer.tsx"

/** Reports whether a link on another site leads here. Browsers keep the session's cookie back then. */
export const isFromAnotherSite = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["sec-fetch-site"] === "cross-site"

/** Lets the browser open an address from here, so that it sends the session's cookie. */
export const openAgain = (renderer: PageRenderer["Service"], address: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(
    renderer.document(
      "Opening",
      <Narrow title="Opening">
        <LinkLine to={address}>Open the page</LinkLine>
      </Narrow>,
    ),
    "refresh",
    `0; url=${address}`,
  )

import type { Behaviour } from './account.ts'

/** The settings, as src/app/config.ts reads them. */

/** Each is `host` or `host:port`, as URL normalises the host. Such a host may have any address, and use http. */
export type AllowedHosts = ReadonlySet<string>

export type DatabaseAddress = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

export type FixedWebhook = { callback_url: string; signing_key: string }

/** A key that the settings fix, with the account that it opens. It has no row in the database. */
export type FixedKey = {
  account: string
  key: string
  /** `configured` for FARTHING_API_KEY; `configured1` and so on for the pairs of FARTHING_API_KEYS. */
  key_id: string
  /** SHA-256, in hexadecimal. */
  hash: string
}

export type Config = {
  port: number
  host: string
  database: DatabaseAddress
  /** The behaviour of the account `default`, and of accounts that the settings' keys or a command create. */
  behaviour: Behaviour
  /** The key with which commands speak to the service; for the service a fixed key of the default account. */
  apiKey: string | undefined
  /** The keys of FARTHING_API_KEY and FARTHING_API_KEYS. */
  fixedKeys: readonly FixedKey[]
  /** The API's address in links, without a trailing slash. If undefined, the request's Host is used. */
  baseUrl: string | undefined
  /** The address of the hosted pages in links. If undefined, it is the API's. */
  pagesUrl: string | undefined
  /** The address of the service that commands speak to, without a trailing slash. */
  url: string
  /** The hosts of FARTHING_CALLBACK_HOSTS, and the fixed webhook's host with its port. */
  callbackHosts: AllowedHosts
  /** The hosts of FARTHING_RETURN_HOSTS: a return_url may name them over plain http. */
  returnHosts: AllowedHosts
  fixedWebhook: FixedWebhook | undefined
  /** The name in the header and titles of the hosted pages. If undefined, it is Farthing's. */
  serviceName: string | undefined
  trustProxy: boolean
  /** Whether the console is on, and with it the recorder. */
  console: boolean
  /** The most bytes that the record of all accounts may take. */
  recordMax: number
  /** Whether tests may control payments and clocks through /control. */
  control: boolean
  metricsPort: number | undefined
  logLevel: string
  /** Whether the test library has started the service: its users set options, and no variables. */
  isLibrary: boolean
  /** A warning for each variable that looks like a setting but is not one. */
  warnings: string[]
}

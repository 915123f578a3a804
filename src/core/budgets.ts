/**
 * Limits on the work and memory that one client, receiver or record can cause. Only the lengths of pages and lists are
 * set elsewhere. Each limit has its unit in its name or comment, and the test that holds it. docs/reliability.md has
 * the same table, which a test compares with this file.
 */

const KB = 1024
const MB = 1024 * KB

/** Bytes of all variants of a body that are tried to explain a signature. Held by test/signature/budget.test.ts. */
export const VARIANT_BYTES = 4 * MB
/** Bytes of the bodies in all pairs of a wrong body and a wrong key that are tried. Held by test/signature/budget.test.ts. */
export const PAIR_BYTES = 16 * MB
/** Levels of nesting in a body whose signature is explained. Held by test/signature/budget.test.ts. */
export const EXPLAINED_DEPTH = 64
/** Texts of a receiver's response that are looked up as signatures. Held by test/signature/budget.test.ts. */
export const LOOKED_UP_TEXTS = 8

/** Milliseconds of work between two turns of the event loop. Held by test/contract/http/search-budget.test.ts. */
export const SLICE_MS = 10

/** Bytes of a recorded header value. Held by test/contract/recorder/budget.test.ts. */
export const HEADER_VALUE_BYTES = 1 * KB
/** Bytes of all recorded header values of a request or a response. Held by test/contract/recorder/budget.test.ts. */
export const HEADERS_BYTES = 16 * KB
/** Bytes of a recorded path, and of a recorded query. Held by test/contract/recorder/budget.test.ts. */
export const ADDRESS_PART_BYTES = 2 * KB
/** Bytes of a recorded body: its beginning. Held by test/contract/recorder/budget.test.ts. */
export const RECORDED_BODY_BYTES = 8 * KB
/** Bytes of a row of the record. Held by test/contract/recorder/budget.test.ts. */
export const RECORD_ROW_BYTES = 32 * KB
/** Bytes of an account's record. FARTHING_RECORD_MAX limits that of all accounts. Held by test/contract/recorder/budget.test.ts. */
export const ACCOUNT_RECORD_BYTES = 32 * MB
/** Bytes that the record leaves to payments, on the volume of an SQLite file or as free pages in it. Held by test/contract/recorder/budget.test.ts. */
export const RECORD_LEAVES_BYTES = 64 * MB
/** Exchanges in the record of an account. Held by test/contract/recorder/keeping.test.ts. */
export const RECORD_ROWS = 10_000
/** Exchanges in the record of a test account. Held by test/contract/recorder/keeping.test.ts. */
export const TEST_RECORD_ROWS = 1_000

/** Exchanges of an account, and of all accounts, recorded at once, and as many refusals of all. The others are only counted, except those of test accounts. Held by test/recorder/admission.test.ts. */
export const RECORDED_AT_ONCE = 2_000
/** Exchanges of an account recorded each second after that. Held by test/recorder/admission.test.ts. */
export const RECORDED_A_SECOND = 100
/** Exchanges of all accounts that an instance records each second after that. Held by test/recorder/admission.test.ts. */
export const ALL_RECORDED_A_SECOND = 400
/** Refusals of an account recorded at once. Held by test/recorder/admission.test.ts. */
export const REFUSALS_AT_ONCE = 500
/** Refusals of an account recorded each second after that. Held by test/recorder/admission.test.ts. */
export const REFUSALS_A_SECOND = 20
/** Refusals of all accounts that an instance records each second after that. Held by test/recorder/admission.test.ts. */
export const ALL_REFUSALS_A_SECOND = 200

/** Rows of the record that wait to be written. Held by test/recorder/batches.test.ts. */
export const UNWRITTEN_ROWS = 2_000
/** Bytes of such rows; exchanges that come then are only counted. Held by test/contract/recorder/keeping.test.ts. */
export const UNWRITTEN_BYTES = 8 * MB
/** Bytes of a response that is held until the next write; the row of a longer one is made at once. Held by test/recorder/batches.test.ts. */
export const HELD_RESPONSE_BYTES = 64 * KB

/** Bytes of a page of a list of the control API. Held by test/contract/recorder/budget.test.ts. */
export const LIST_PAGE_BYTES = 1 * MB
/** Requests of an account that read its record, show its pages or compare signatures at once. Held by test/contract/control/waiting.test.ts. */
export const RECORD_READERS = 2
/** Requests of all accounts that do so at once. Held by test/contract/console/turns.test.ts. */
export const ALL_RECORD_READERS = 8
/** Requests that wait to do so. With one more the account with the most has one refused. Held by test/contract/console/turns.test.ts. */
export const RECORD_READERS_WAITING = 1_000
/** Requests of an account and its test accounts that wait at once for something to happen. Held by test/contract/control/isolation.test.ts. */
export const HELD_WAITS = 200
/** Milliseconds of such a wait. Held by test/contract/control/isolation.test.ts. */
export const LONGEST_WAIT_MS = 10_000
/** Test accounts of an account at a time. One more is 422. Held by test/contract/control/isolation.test.ts. */
export const TEST_ACCOUNTS = 10_000

/** Requests in progress: they have arrived with their body, and work. Held by test/contract/http/places.test.ts. */
export const REQUESTS_IN_PROGRESS = 1_000
/** Requests in progress of an account with its test accounts, while no other has any: at most four times what is left to others. Held by test/contract/http/places.test.ts. */
export const REQUESTS_OF_ACCOUNT = 800
/** Requests of an account below /control in progress beyond these, so that it can reset itself. Held by test/contract/http/places.test.ts. */
export const CONTROL_REQUESTS = 10
/** Requests in progress without a key, until their token has named an account. Held by test/contract/http/places.test.ts. */
export const UNNAMED_REQUESTS = 100
/** Requests that wait until one of these ends. Held by test/contract/http/places.test.ts. */
export const UNNAMED_WAITING = 900
/** Open connections; more are closed as they come. Held by test/contract/http/connections.test.ts. */
export const CONNECTIONS = 10_000
/** Milliseconds in which the headers of a request must arrive: 408. Held by test/faults/process/overload.test.ts. */
export const HEADERS_MS = 10_000
/** Milliseconds in which a request with its body must arrive: 408. Held by test/faults/process/overload.test.ts. */
export const REQUEST_MS = 15_000
/** Milliseconds without a byte or a pending request, after which a connection is closed. Held by test/contract/http/connections.test.ts. */
export const IDLE_MS = 30_000
/** Pipelined requests that wait on a connection; with one more it is closed. Held by test/contract/http/connections.test.ts. */
export const PIPELINED = 64
/** Pipelined requests that wait on all connections. Held by test/faults/process/overload.test.ts. */
export const PIPELINED_IN_ALL = 10_000

/** Bytes of the body of a request: 413. Held by test/contract/http/bodies.test.ts. */
export const BODY_BYTES = 65_536
/** Chunks or reads of a body; with more its connection is closed. Held by test/contract/http/connections.test.ts. */
export const BODY_PIECES = 4_096
/** Bytes of bodies that are arriving, beyond 4 KB of each. Held by test/contract/http/connections.test.ts. */
export const ARRIVING_BYTES = 64 * MB
/** Bytes of a form without files. Held by test/contract/http/forms.test.ts. */
export const FORM_BYTES = 16 * KB
/** Bytes of a form with files. Held by test/contract/console/signature.test.ts. */
export const FILE_FORM_BYTES = 256 * KB
/** Fields of a form. Held by test/contract/http/forms.test.ts. */
export const FORM_FIELDS = 100

/** Open connections to the metrics. Held by test/metrics/metrics.test.ts. */
export const METRICS_CONNECTIONS = 100

/** Deliveries of an account at once to one host or listener; more wait. Held by test/webhooks/send-at-once.test.ts. */
export const DELIVERIES_TO_HOST = 64
/** Deliveries at once to all hosts, and to the listeners of an account and its test accounts. Held by test/webhooks/send-at-once.test.ts. */
export const DELIVERIES = 256
/** Deliveries of an account at once to all hosts. Held by test/webhooks/send-at-once.test.ts. */
export const DELIVERIES_OF_ACCOUNT = 192
/** Addresses of a receiver's name, of each kind. Held by test/webhooks/resolve.test.ts. */
export const ADDRESSES = 16
/** Bytes of a receiver's response that are read, and of its headers. Held by test/webhooks/send.test.ts. */
export const ANSWER_BYTES = 64 * KB
/** Pieces of a receiver's response that are read. Held by test/webhooks/send.test.ts. */
export const ANSWER_PIECES = 256
/** Bytes of a receiver's response that are kept for the record: more than is shown, so that no secret is cut before it is masked. Held by test/webhooks/send.test.ts. */
export const KEPT_ANSWER_BYTES = 16 * KB
/** Active webhooks of an account, those of listeners included. Held by test/contract/webhooks/registration.test.ts. */
export const ACTIVE_WEBHOOKS = 100

/** Statements that a connection to a database keeps prepared. Held by test/database/sqlite-connection.test.ts and test/database/postgres.test.ts. */
export const PREPARED_STATEMENTS = 200

/** Messages of an account that one statement reads or records while they are delivered; four such statements work at once on an instance. Held by test/contract/webhooks/budget.test.ts. */
export const DELIVERIES_AT_DATABASE = 64
/** Bytes of messages that are being written or delivered. Held by test/contract/webhooks/budget.test.ts. */
export const DELIVERING_BYTES = 32 * MB

/** Plans of an account. Held by test/contract/control/plans.test.ts. */
export const PLANS = 100
/** Bytes of the fields that a plan looks for. Held by test/contract/control/plans.test.ts. */
export const PLAN_BYTES = 4_096

/** Messages of a payment that a list of payments counts. Held by test/contract/console/long-payment.test.ts. */
export const MESSAGES_COUNTED = 100
/** Messages of an account, and at least 20 of each of its webhooks, that one step of a list of them looks at. Held by test/contract/control/following.test.ts. */
export const MESSAGES_AT_ONCE = 1_000

/** Characters of a filter of the console. Held by test/contract/console/requests.test.ts. */
export const FILTER_CHARACTERS = 1_000

/** Bytes of responses that are being made or wait to leave. Held by test/contract/http/search-budget.test.ts. */
export const LEAVING_BYTES = 256 * MB
/** Bytes that a search counts as until its response is made; the largest pages have 6 to 11 MB. Held by test/contract/http/search-budget.test.ts. */
export const SEARCH_BYTES = 8 * MB
/** Searches that read rows at once. Held by test/contract/http/search-budget.test.ts. */
export const SEARCHES_AT_WORK = 8
/** Searches of an account that read rows at once. Held by test/contract/http/search-budget.test.ts. */
export const SEARCHES_OF_ACCOUNT = 4
/** Searches that wait for their turn. Held by test/contract/http/search-budget.test.ts. */
export const SEARCHES_WAITING = 64
/** Milliseconds that a request waits for its turn. Held by test/contract/http/search-budget.test.ts. */
export const TURN_WAIT_MS = 20_000

/** Connections to PostgreSQL of an instance. Held by test/database/postgres.test.ts. */
export const POOL_SIZE = 10
/** Connections to PostgreSQL that one account uses at once. Held by test/database/postgres.test.ts. */
export const POOL_OF_ACCOUNT = 8
/** Milliseconds of reads on SQLite before the turn of another account. Held by test/database/rounds.test.ts. */
export const READ_TURN_MS = 1

/** Bytes of rows that may be large, such as those of the record, that are read at one go. Held by test/database/rounds.test.ts. */
export const STEP_BYTES = 256 * KB

/** Bytes of the log that wait for a reader; further lines are dropped. Held by test/faults/process/log.test.ts. */
export const UNREAD_LOG_BYTES = 8 * MB

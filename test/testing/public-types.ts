/**
 * Holds the types that src/testing/public.d.ts writes by hand against the schemas of /openapi.json and
 * /control/openapi.json: `tsc` fails, and names the field that one of the two lacks or whose type differs.
 */
import type { FromSchema } from 'json-schema-to-ts'
import type { SentEventType } from '../../src/pay/differences/messages.ts'
import type { Choice as KnownChoice, NewPayment } from '../../src/pay/payments/payment.ts'
import type { newPayment, readTypes } from '../../src/pay/payments/request.ts'
import type { payment, presentWith } from '../../src/pay/payments/response.ts'
import type { Choice, EventType, NewPlan, PaymentFields } from '../../src/testing/public.d.ts'
import type { newPlan } from '../../src/tools/steer/plan-wire.ts'

/** The names of a schema's fields. Where all are required, the type of `properties` does not list them. */
type Names<Schema> = Schema extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? Schema extends { readonly required: readonly (infer Name)[] }
      ? Name & string
      : never
    : keyof Properties & string
  : never

/** The fields of a schema by their paths, such as `state.status`. */
type InSchema<Schema, Before extends string = ''> = Schema extends {
  readonly properties: infer Properties
}
  ? {
      [Name in Names<Schema>]:
        | `${Before}${Name}`
        | InSchema<Name extends keyof Properties ? Properties[Name] : never, `${Before}${Name}.`>
    }[Names<Schema>]
  : never

/** The fields of a type by their paths, also those that only some of its cases have. */
type InType<Type, Before extends string = ''> = Type extends readonly unknown[]
  ? never
  : Type extends object
    ? string extends keyof Type
      ? never
      : {
          [Name in keyof Type & string]-?:
            | `${Before}${Name}`
            | InType<NonNullable<Type[Name]>, `${Before}${Name}.`>
        }[keyof Type & string]
    : never

type Nothing<Lacking extends never> = Lacking

export type FieldsLack = Nothing<Exclude<InSchema<typeof newPayment>, InType<PaymentFields>>>
export type FieldsHaveTooMany = Nothing<Exclude<InType<PaymentFields>, InSchema<typeof newPayment>>>
export type PlanLacks = Nothing<Exclude<InSchema<typeof newPlan>, InType<NewPlan>>>
export type PlanHasTooMany = Nothing<
  Exclude<InType<NewPlan>, InSchema<typeof newPlan> | `given.${string}`>
>

/** Fields of GOV.UK Pay that this service describes and never sends. */
type NeverSent = 'corporate_card_surcharge' | 'total_amount' | 'exemption'
type Printed = Exclude<keyof ReturnType<typeof presentWith>, 'agreement_id'>
type Read = keyof ReturnType<typeof readTypes>
export type NotPrinted = Nothing<Exclude<Names<typeof payment>, Printed | NeverSent>>
export type PrintedUndescribed = Nothing<Exclude<Printed, Names<typeof payment>>>
export type NotRead = Nothing<Exclude<keyof NewPayment, Read>>
/** `prefilled` is prefilled_cardholder_details as it was read. */
export type NotDescribed = Nothing<
  Exclude<keyof NewPayment, Names<typeof newPayment> | 'prefilled'>
>

/** Every value that the service sends fits the public type. */
export const asChoice = (known: KnownChoice): Choice => known
export const asEventType = (known: SentEventType): EventType => known
/** The service accepts every value that the public type lets a test send. */
export const accepted = (given: PaymentFields): FromSchema<typeof newPayment> => ({ ...given })

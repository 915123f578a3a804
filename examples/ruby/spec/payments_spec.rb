# frozen_string_literal: true

# Run it with: rspec (farthing.rb says what it needs)
require_relative 'farthing'

RSpec.describe 'Payments' do
  let(:fields) do
    { amount: 1450, reference: 'R-7', description: 'A licence', return_url: 'https://example.org/back' }
  end

  around do |example|
    Farthing.shared.with_account do |account|
      @account = account
      example.run
    end
  end

  def ask(method, path, body = nil, **expected)
    @account.ask(method, path, body, **expected)
  end

  it 'succeeds, and your receiver gets each message once' do
    @account.with_receiver do |messages|
      id = ask('POST', '/v1/payments', fields, expect: 201)['payment_id']
      paid = ask('POST', "/control/payments/#{id}/complete", { scenario: 'success' })
      expect(paid['state']['status']).to eq('success')
      # The response came after the delivery.
      expect(messages.map { |message| message.values_at('event_type', 'resource_id') })
        .to contain_exactly(['card_payment_succeeded', id], ['card_payment_captured', id])
    end
  end

  it 'is declined' do
    id = ask('POST', '/v1/payments', fields, expect: 201)['payment_id']
    paid = ask('POST', "/control/payments/#{id}/complete", { scenario: 'declined' })
    expect(paid['state']).to include('status' => 'failed', 'code' => 'P0010')
  end

  it 'is refunded after 5 seconds, and gone after 7 days' do
    id = ask('POST', '/control/payments', { scenario: 'success', amount: 1450 }, expect: 201)['payment_id']
    path = "/v1/payments/#{id}"
    refund = ask('POST', "#{path}/refunds", { amount: 500, refund_amount_available: 1450 }, expect: 202)
    expect(refund['status']).to eq('submitted')
    ask('POST', '/control/clock', { advance: 5_000 })
    expect(ask('GET', "#{path}/refunds/#{refund['refund_id']}")['status']).to eq('success')
    ask('POST', '/control/clock', { advance: 7 * 24 * 60 * 60 * 1_000 })
    expect(ask('GET', path, expect: 404)['code']).to eq('P0200')
  end

  it 'was made although its answer was lost' do
    ask('POST', '/control/plans', { on: 'createPayment', answer: { status: 503 } }, expect: 201)
    ask('POST', '/v1/payments', fields, expect: 503)
    ask('POST', '/control/plans', { on: 'createPayment', when: 'after', reset: true }, expect: 201)
    expect { ask('POST', '/v1/payments', fields) }.to raise_error(Errno::ECONNRESET)
    expect(ask('GET', '/v1/payments?reference=R-7')['total']).to eq(1) # Search before you repeat.
  end

  # Your service reads a recurring payment until it has ended, and only then decides.
  def ended(payment)
    50.times do
      state = ask('GET', "/v1/payments/#{payment['payment_id']}")['state']
      return state if state['finished']

      sleep 0.1
    end
    raise "payment #{payment['payment_id']} has not ended"
  end

  it 'is declined as a recurring one, and succeeds when it is tried again' do
    ask('POST', '/control/reset', { behaviour: 'govuk-pay' })
    agreement = ask('POST', '/v1/agreements', { reference: 'R-7', description: 'A licence' }, expect: 201)
    given = { agreement_id: agreement['agreement_id'] }
    set_up = { set_up_agreement: given[:agreement_id], scenario: 'success' }
    ask('POST', '/control/payments', set_up, expect: 201)
    declines = { given: given, scenario: 'declined', can_retry: true, hold: true }
    ask('POST', '/control/plans', declines, expect: 201)
    monthly = { amount: 1450, reference: 'R-7', description: 'March', authorisation_mode: 'agreement', **given }
    first = ask('POST', '/v1/payments', monthly, expect: 201)
    expect(first['state']['status']).to eq('created') # As in production: the end comes later.
    ask('POST', "/control/payments/#{first['payment_id']}/complete", { scenario: 'declined' })
    expect(ended(first)).to include('status' => 'failed', 'can_retry' => true)
    again = ask('POST', '/v1/payments', monthly, expect: 201)
    ask('POST', '/control/clock', { advance: 2000 })
    expect(ended(again)['status']).to eq('success')
  end

  # What your service shows when the user is back. A submitted payment has neither succeeded nor failed.
  def page_for(id)
    state = ask('GET', "/v1/payments/#{id}")['state']
    return 'Thank you' if state['status'] == 'success'

    state['finished'] ? 'Try again' : 'We will email you'
  end

  it 'is still submitted when the user is back' do
    ask('POST', '/control/reset', { behaviour: 'govuk-pay' })
    id = ask('POST', '/control/payments', { scenario: 'success', confirm: false }, expect: 201)['payment_id']
    expect(page_for(id)).to eq('We will email you')
    ask('POST', "/control/payments/#{id}/complete", { scenario: 'success' })
    expect(page_for(id)).to eq('Thank you')
  end
end

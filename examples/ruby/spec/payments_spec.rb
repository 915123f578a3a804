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

  # The event types and payments. Messages come after the response, in any order.
  def arrived(messages, number = 2)
    50.times do
      return messages.map { |message| message.values_at('event_type', 'resource_id') } if messages.size >= number

      sleep 0.1
    end
    raise "of #{number} messages #{messages.size} came"
  end

  it 'succeeds, and your receiver gets each message once' do
    @account.with_receiver do |messages|
      id = ask('POST', '/v1/payments', fields, expect: 201)['payment_id']
      paid = ask('POST', "/control/payments/#{id}/complete", { scenario: 'success' })
      expect(paid['state']['status']).to eq('success')
      ask('POST', '/control/clock', { advance: 5_000 }) # Then it is captured.
      expect(arrived(messages))
        .to contain_exactly(['card_payment_succeeded', id], ['card_payment_captured', id])
    end
  end

  it 'is declined' do
    id = ask('POST', '/v1/payments', fields, expect: 201)['payment_id']
    paid = ask('POST', "/control/payments/#{id}/complete", { scenario: 'declined' })
    expect(paid['state']).to include('status' => 'failed', 'code' => 'P0010')
  end

  it 'is refunded once it is captured, and gone after 180 days' do
    id = ask('POST', '/control/payments', { scenario: 'success', amount: 1450 }, expect: 201)['payment_id']
    path = "/v1/payments/#{id}"
    wanted = { amount: 500, refund_amount_available: 1450 }
    expect(ask('POST', "#{path}/refunds", wanted, expect: 400)['code']).to eq('P0603')
    ask('POST', '/control/clock', { advance: 5_000 })
    refund = ask('POST', "#{path}/refunds", wanted, expect: 202)
    expect(ask('GET', "#{path}/refunds/#{refund['refund_id']}")['status']).to eq('success')
    ask('POST', '/control/clock', { advance: 180 * 24 * 60 * 60 * 1_000 })
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

  # What your service shows when the user is back. A submitted payment is not paid: its link leads on to Confirm.
  def page_for(id)
    payment = ask('GET', "/v1/payments/#{id}")
    return 'Thank you' if payment['state']['status'] == 'success'

    payment['state']['finished'] ? 'Try again' : "Go on to #{payment.dig('_links', 'next_url', 'href')}"
  end

  it 'leads a user who is back from Confirm on to it' do
    held = ask('POST', '/control/payments', { scenario: 'success', confirm: false }, expect: 201)
    id = held['payment_id']
    expect(held['state']['status']).to eq('submitted')
    expect(page_for(id)).to eq("Go on to #{held['_links']['next_url']['href']}")
    ask('POST', "/control/payments/#{id}/complete", { scenario: 'success' })
    expect(page_for(id)).to eq('Thank you')
  end
end

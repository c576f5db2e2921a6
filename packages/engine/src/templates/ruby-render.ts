/** Renders templates: the last part of the Ruby program. */
export const RUBY_RENDER = `module SlipwayTemplates
  CONTEXTS = { "director" => DirectorContext, "create-env" => TemplateEvaluationContext }.freeze

  # A template of a job, which all instances of a group share. The first rendering evaluates it, and finds mistakes of syntax.
  # Later ones call it as a method, if it can be one: Ruby parses that once, where eval parses each time.
  class Template
    # Words whose meaning in a method may be another.
    ONLY_EVAL = %r{\\b(?:return|yield|super|retry|redo|BEGIN|END|DATA|binding|eval|local_variables?|caller\\w*)\\b
      |__\\w+__|block_given|/[a-z]*o[a-z]*(?!\\w)|%r}x

    def initialize(name, source)
      @text = source.unpack1("m0").force_encoding("UTF-8")
      @erb = ERB.new(@text, trim_mode: "-")
      @erb.filename = name
      @state = :unread
      @plain = !@text.include?("<%")
    end

    # A text without code is the same in each context.
    def plain? = @plain

    def result(context)
      return @constant ||= @erb.result(context.get_binding) if plain?
      compile(context.class) if @state == :evaluated
      return @method.bind_call(context) if @method
      text = @erb.result(context.get_binding)
      @state = :evaluated if @state == :unread
      text
    end

    private

    def compile(kind)
      @state = :compiled
      return if @text.scan(/<%.*?%>/m).any? { |code| ONLY_EVAL.match?(code) }
      # As ERB does it: below the comment with the encoding, so that lines keep their numbers.
      body = @erb.src.sub(/^(?!#|$)/) { "def slipway_template\\n" } << "\\nend\\n"
      @method = kind.unbound(body, @erb.filename)
    rescue SyntaxError
      # Constants and classes are not defined in methods.
    end
  end

  MOST_READ = 500
  @read = {}

  def self.read(kind, template)
    @read.clear if @read.size >= MOST_READ
    name, source = template.values_at("name", "source")
    @read[[kind, name, source]] ||= Template.new(name, source)
  end

  # Each template gets the context as it was given, whatever the templates before it have changed: reading it again takes
  # less than finding out whether they have.
  def self.render_one(kind, given, template)
    context = kind.new({})
    found = read(kind, template)
    context = kind.new(JSON.parse(given)) unless found.plain?
    { "text" => [found.result(context)].pack("m0") }
  rescue Exception => error # rubocop:disable Lint/RescueException: a template may fail in each way there is
    at = (error.backtrace || []).find { |line| line.start_with?("#{template["name"]}:") }
    line = at ? at.delete_prefix("#{template["name"]}:").to_i : "(unknown)"
    { "line" => line, "message" => context.explain(error).dup.force_encoding("UTF-8").scrub, "class" => error.class.name }
  end

  # Base64 of JSON in, base64 of JSON out: neither Ruby's nor the shell's quoting is in the way.
  def self.render(request)
    given = JSON.parse(request.unpack1("m0").force_encoding("UTF-8"))
    kind, context = CONTEXTS.fetch(given["dialect"]), given["context"]
    answers = given["templates"].map { |template| render_one(kind, context, template) }
    [JSON.generate(answers)].pack("m0")
  end
end
`;

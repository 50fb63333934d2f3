//! Renders a template with values.

use serde_json::{Map, Value};

use super::{MAX_OUTPUT, Node, Template, TemplateProblem};

/// The state of a rendering.
struct Renderer<'a> {
    values: &'a Map<String, Value>,
    /// The names of values that are escaped however the template writes them.
    plain: &'a [&'a str],
    out: String,
}

/// A variable, by its name.
type Named<'a> = (&'a str, &'a Value);

// === impl Template ===

impl Template {
    /// The page with `values`. A variable without a value shows nothing; those named in `plain` are never markup.
    pub(crate) fn render(
        &self,
        values: &Map<String, Value>,
        plain: &[&str],
    ) -> Result<String, TemplateProblem> {
        let mut renderer = Renderer { values, plain, out: String::new() };
        renderer.all(&self.nodes, None)?;
        Ok(renderer.out)
    }
}

// === impl Renderer ===

impl<'a> Renderer<'a> {
    /// Renders `nodes`; `this` is the variable of the enclosing section.
    fn all(&mut self, nodes: &[Node], this: Option<Named<'a>>) -> Result<(), TemplateProblem> {
        for node in nodes {
            match node {
                Node::Text(text) => self.out.push_str(text),
                Node::Variable { name, is_escaped, .. } => {
                    let found = self.value(name, this);
                    let text = found.map(|(_, value)| written(value)).unwrap_or_default();
                    let is_plain = found.is_some_and(|(name, _)| self.plain.contains(&name));
                    if *is_escaped || is_plain {
                        escape(&text, &mut self.out);
                    } else {
                        self.out.push_str(&text);
                    }
                }
                Node::Section { name, is_inverted, nodes, .. } => {
                    let value = self.value(name, this);
                    if value.is_some_and(|(_, value)| is_set(value)) != *is_inverted {
                        self.all(nodes, if *is_inverted { this } else { value })?;
                    }
                }
            }
            if self.out.len() > MAX_OUTPUT {
                return Err(TemplateProblem::new(node.line(), "the page comes out too long"));
            }
        }
        Ok(())
    }

    fn value(&self, name: &str, this: Option<Named<'a>>) -> Option<Named<'a>> {
        let named = || self.values.get_key_value(name).map(|(name, value)| (name.as_str(), value));
        if name == "." { this } else { named() }
    }
}

// === impl Node ===

impl Node {
    fn line(&self) -> usize {
        match self {
            Self::Text(_) => 1,
            Self::Variable { line, .. } | Self::Section { line, .. } => *line,
        }
    }
}

/// Decides as JavaScript does, for which these pages were made: 0 and empty texts are not set.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(_) => true,
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Escapes `text` for the content of an element and for attributes, quoted or not.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '/' => out.push_str("&#x2F;"),
            '`' => out.push_str("&#x60;"),
            '=' => out.push_str("&#x3D;"),
            other => out.push(other),
        }
    }
}
